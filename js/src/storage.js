/**
 * The device's state and outbox, in IndexedDB.
 *
 * Everything that a report changes is changed in one transaction, which other tabs wait for: reading,
 * deciding and writing happen in the callbacks of one transaction, and nothing in it is awaited that
 * could let it end early. `durability: "strict"` asks for the disk.
 */

const VERSION = 1;
const STATE = "state";
const OUTBOX = "outbox";

const markOf = (name) => `deniable-mark:${name}`;

/** Return a database, made by `fill`; null if there is none and nothing to fill it. */
function opened(name, fill) {
  return new Promise((resolve, reject) => {
    const request = globalThis.indexedDB.open(name, VERSION);
    request.onupgradeneeded = () => {
      // To abort the first upgrade leaves no database behind.
      if (fill) fill(request.result);
      else request.transaction.abort();
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      event.preventDefault();
      if (!fill && request.error?.name === "AbortError") resolve(null);
      else reject(request.error);
    };
  });
}

/** The storage of one client, by its name. */
export class Storage {
  #database;
  #lock;

  /**
   * Open the database; where there is none, make it, or return null.
   *
   * A second database marks that there is one: if the mark alone is left, the ledger was lost, and
   * a new secret would answer anew what was answered.
   */
  static async open(name, make) {
    if (make) {
      (await opened(markOf(name), () => {})).close();
    }
    const database = await opened(`deniable:${name}`, make && ((fresh) => {
      fresh.createObjectStore(STATE);
      fresh.createObjectStore(OUTBOX, { keyPath: "id" });
    }));
    if (database === null) return null;
    const storage = new Storage();
    storage.#database = database;
    // Another tab that deletes or upgrades the database need not wait for this one.
    storage.#database.onversionchange = () => storage.#database.close();
    storage.#lock = `deniable:${name}`;
    return storage;
  }

  /** Tell whether there was a database of this name. */
  static async isMarked(name) {
    const mark = await opened(markOf(name), null);
    mark?.close();
    return mark !== null;
  }

  /**
   * Run `change(state, outbox)` in one transaction; what it returns is returned when it is stored.
   *
   * @param {(state: object, outbox: object[]) => {result: any, put?: object[], drop?: string[]}} change
   *   gets the stored state, which it may change, and all waiting reports. If it throws, nothing is
   *   stored.
   */
  async change(change) {
    const locks = globalThis.navigator?.locks;
    const run = () => this.#transaction(change);
    return locks ? locks.request(this.#lock, run) : run();
  }

  #transaction(change) {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction([STATE, OUTBOX], "readwrite",
        { durability: "strict" });
      const [states, outbox] = [STATE, OUTBOX].map((name) => transaction.objectStore(name));
      let [result, failure] = [undefined, null];
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(failure ?? transaction.error);
      const asked = states.get(STATE);
      const waiting = outbox.getAll();
      waiting.onsuccess = () => {
        try {
          const state = asked.result ?? null;
          const done = change(state, waiting.result);
          result = done.result;
          if (done.state ?? state) states.put(done.state ?? state, STATE);
          for (const report of done.put ?? []) outbox.put(report);
          for (const id of done.drop ?? []) outbox.delete(id);
        } catch (error) {
          failure = error;
          transaction.abort();
        }
      };
    });
  }

  /** Return the stored state, or null, and all waiting reports. */
  read() {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction([STATE, OUTBOX], "readonly");
      const state = transaction.objectStore(STATE).get(STATE);
      const waiting = transaction.objectStore(OUTBOX).getAll();
      transaction.oncomplete = () => resolve([state.result ?? null, waiting.result]);
      transaction.onabort = () => reject(transaction.error);
    });
  }

  close() {
    this.#database.close();
  }
}
