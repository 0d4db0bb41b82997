/** Telemetry with plausible deniability, for web pages. */

/** The absent answer, of questions that are always sent. */
export const ABSENT: unique symbol;

/** A value that a page may record: what it must be follows from the question's domain. */
export type Value =
  | typeof ABSENT
  | boolean
  | number
  | bigint
  | string
  | readonly string[]
  | ReadonlySet<string>
  | { readonly [field: string]: Value };

/** Why nothing is collected, or "ready". */
export type State =
  | "ready"
  | "no_consent"
  | "signal"
  | "not_persistent"
  | "storage"
  | "lost"
  | "frame"
  | "closed";

export interface Options {
  /** The address of survey.json, or its text or bytes. What the page hands over counts as bundled. */
  survey: string | Uint8Array;
  /** The collector's address. Without one, reports wait in the outbox. */
  collector?: string;
  /** The name of this client's storage. */
  name?: string;
  /** The most epsilon that this device ever discloses. */
  ceiling?: number;
  /** A second budget: the most epsilon within any so many consecutive UTC days. */
  window?: { readonly epsilon: number; readonly days: number };
  /** The device's value of each segment that the survey declares; they travel in clear. */
  segments?: { readonly [name: string]: string };
  /** The app's word on storage that the browser may clear. */
  storage?: "persistent" | "best-effort";
  /** Seconds, on average, from a value to the moment its report may leave. */
  delay?: number;
  /** The key that the collector asks of writers. */
  writeKey?: string;
  /** The app's word for new questions in surveys that `refresh` fetches: all, or by their SHA-256. */
  trustSurveys?: boolean | readonly string[];
}

/** A report as it leaves. */
export interface Report {
  readonly question: string;
  readonly version: number;
  readonly digest: string;
  readonly epoch: number;
  readonly id: string;
  readonly record: string;
  readonly segments?: { readonly [name: string]: string };
}

export interface Disclosed {
  readonly epsilon: number;
  readonly ceiling: number;
  readonly questions: readonly {
    readonly question: string;
    readonly reports: number;
    readonly answers: number;
    readonly epsilon: number;
  }[];
  /** The budget per window, and the most that a window has spent so far. */
  readonly window?: { readonly epsilon: number; readonly days: number; readonly spent: number };
}

export interface Counter {
  readonly question: string;
  readonly reason: string;
  readonly number: number;
}

/** A field's stages on the way to its report, each as bits. */
export interface Stage {
  readonly field: string;
  /** The device's group for this question, where the mechanism has groups. */
  readonly cohort: number | null;
  readonly truth: readonly number[];
  /** What the device keeps for this value; null where every report is drawn anew. */
  readonly permanent: readonly number[] | null;
  /** What the report says; null without one. */
  readonly report: readonly number[] | null;
}

export class Client {
  private constructor();
  static open(options: Options): Promise<Client>;
  readonly state: State;
  /** Whether the browser says Global Privacy Control or Do Not Track. */
  readonly signal: boolean;
  readonly consent: "unknown" | "granted" | "denied";
  optIn(how?: { despiteSignal?: boolean }): Promise<boolean>;
  optOut(): Promise<boolean>;
  /** The levels that the survey offers, and the person's choice ("" is the first). */
  readonly levels: { readonly offered: string[]; readonly chosen: string };
  /** Set the person's level for all questions. Rejects with RangeError if no question offers it. */
  choose(level: string): Promise<boolean>;
  /** Never throws; resolves to whether a report is stored. */
  record(question: string, value: Value): Promise<boolean>;
  disclosed(): Promise<Disclosed>;
  pending(): Promise<Report[]>;
  /**
   * What becomes of a value on this device, for a page that shows it to the person. Records nothing.
   * Of a report, by default the newest that waits. Rejects with RangeError for mechanisms other than
   * krr, oue and rappor, and without consent.
   */
  stages(question: string, value: Value, report?: Report): Promise<Stage[]>;
  counters(): Promise<Counter[]>;
  /** Sends all that waits now, due or not; resolves to whether nothing that may be sent is left. */
  flush(): Promise<boolean>;
  /** Fetches the collector's survey and follows it as far as it asks for less than the page's. */
  refresh(): Promise<boolean>;
  close(): Promise<void>;
}

/** A value or a survey that was refused, with a reason of the protocol; never with the value. */
export class Refused extends Error {
  readonly reason: string;
}
