/** A page in TypeScript that uses every name of the client. What must not compile says so. */

import { ABSENT, Client, Refused } from "deniable";
import type { Counter, Disclosed, Options, Report, Stage, State, Value } from "deniable";

const options: Options = {
  survey: new Uint8Array(),
  collector: "https://telemetry.example.org",
  name: "shop",
  ceiling: 8,
  window: { epsilon: 2, days: 30 },
  segments: { platform: "linux" },
  storage: "best-effort",
  delay: 60,
  writeKey: "sesame",
  trustSurveys: ["0".repeat(64)],
};

export async function page(): Promise<number> {
  const client = await Client.open(options);
  const state: State = client.state;
  if (state === "signal" && client.signal) await client.optIn({ despiteSignal: true });
  else if (client.consent === "unknown") client.optIn();

  const values: Value[] = [true, 1, 2n, "text", ["a", "b"], new Set(["a"]), ABSENT,
    { dark: true, browser: "firefox", parts: ["a"] }];
  for (const value of values) {
    const stored: boolean = await client.record("dark-mode", value);
    if (!stored) break;
  }
  await client.choose(client.levels.offered[0] ?? client.levels.chosen);
  const told: Disclosed = await client.disclosed();
  const waiting: Report[] = await client.pending();
  const stages: Stage[] = await client.stages("dark-mode", true, waiting[0]);
  const counters: Counter[] = await client.counters();
  const sent: boolean = (await client.refresh()) && (await client.flush());
  await client.optOut();
  await client.close();

  // @ts-expect-error a survey is needed
  await Client.open({ collector: "https://telemetry.example.org" });
  // @ts-expect-error storage is one of two words
  await Client.open({ survey: "/survey.json", storage: "forever" });
  // @ts-expect-error a date is no value
  client.record("dark-mode", new Date());
  // @ts-expect-error nothing is left to chance: there is no such state
  if (client.state === "maybe") return 0;
  // @ts-expect-error a client is opened, not constructed
  new Client();

  const spent = told.questions.reduce((sum, { epsilon }) => sum + epsilon, told.window?.spent ?? 0);
  return sent ? spent + counters.length + stages.length : told.ceiling - told.epsilon;
}

export const reasonOf = (error: unknown): string => (error instanceof Refused ? error.reason : "");
