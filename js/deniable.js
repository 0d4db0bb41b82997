/**
 * Telemetry with plausible deniability, for web pages.
 *
 *     import { Client } from "./deniable.js";
 *     const client = await Client.open({ survey: "/survey.json", collector: "https://t.example.org" });
 *     client.optIn(); // after asking the person
 *     client.record("dark-mode", true);
 */

export { ABSENT } from "./src/absent.js";
export { Client } from "./src/client.js";
export { Refused } from "./src/refused.js";
