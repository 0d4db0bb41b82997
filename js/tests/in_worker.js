/** A worker that records and sends: told {entry, collector}, it tells what came of it. */

globalThis.onmessage = async ({ data: { entry, collector } }) => {
  const { Client } = await import(entry);
  const client = await Client.open({ survey: "/survey.json", collector, storage: "best-effort",
    ceiling: 1000, delay: 0 });
  const before = client.state;
  client.optIn();
  const made = await client.record("page", "mail.example");
  postMessage({ window: typeof window, before, made, sent: await client.flush(), state: client.state });
  await client.close();
};
