/** Reports and batches as they travel (protocol, section 9). */

import { hex, toBase64 } from "./bytes.js";
import { canonical } from "./canonical.js";

/** Return a report as an object; `told` is what the app told of the device's segments. */
export const reportOf = (question, epoch, id, record, told = {}) => ({
  digest: hex(question.digest),
  epoch,
  id: hex(id),
  question: question.id,
  record: toBase64(record),
  version: question.version,
  ...(question.combination && { segments: question.combination(told) }),
});

/** Return the text of a batch of reports. */
export const batchOf = (reports) => canonical({ reports });
