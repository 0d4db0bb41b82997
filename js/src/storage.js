/**
 * The device's state and outbox, in IndexedDB.
 *
 * Everything that a report changes is changed in one transaction, which other tabs wait for: reading,
 * deciding and writing happen in the callbacks of one transaction, and nothing in it is awaited that
 * could let it end early. `durability: "strict"` asks for the disk.
 */

const VERSION = 1;
const STATE = "state";
const FETCHED = "fetched";
const OUTBOX = "outbox";

const markOf = (name) => `deniable-mark:${name}`;
const lockOf = (name) => `deniable:${name}`;

/** Run work that only one page at a time may do, where the browser has locks. */
export const exclusively = (name, work) => {
  const locks = globalThis.navigator?.locks;
  return locks ? locks.request(name, work) : work();
};

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
   * Open the database, or make it.
   *
   * A second database marks that there is one: if the mark alone is left, the ledger was lost, and
   * a new secret would answer anew what was answered. The mark is made first, under the lock.
   */
  static make(name) {
    return exclusively(lockOf(name), async () => {
      (await opened(markOf(name), () => {})).close();
      return Storage.#of(name, await opened(`deniable:${name}`, (fresh) => {
        fresh.createObjectStore(STATE);
        fresh.createObjectStore(OUTBOX, { keyPath: "id" });
      }));
    });
  }

  /** Return the storage, if there is one, and whether there is only its mark. */
  static find(name) {
    return exclusively(lockOf(name), async () => {
      const database = await opened(`deniable:${name}`, null);
      if (database !== null) return { storage: Storage.#of(name, database), lost: false };
      const mark = await opened(markOf(name), null);
      mark?.close();
      return { storage: null, lost: mark !== null };
    });
  }

  static #of(name, database) {
    const storage = new Storage();
    storage.#database = database;
    // Another tab that deletes or upgrades the database need not wait for this one.
    storage.#database.onversionchange = () => storage.#database.close();
    storage.#lock = lockOf(name);
    return storage;
  }

  /**
   * Run `change(state, outbox)` in one transaction; what it returns is returned when it is stored.
   *
   * @param {(state: object, outbox: object[]) => {result: any, put?: object[], drop?: string[],
   *   fetched?: object}} change gets the stored state, which it may change, and all waiting reports. If
   *   it throws, nothing is stored.
   * @param {number | null} known how many reports wait, as far as this page knows: if there are as many,
   *   they are not read, and `change` gets an object with their `length`
   */
  async change(change, known = null) {
    return exclusively(this.#lock, () => this.#transaction(change, known));
  }

  #transaction(change, known) {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction([STATE, OUTBOX], "readwrite",
        { durability: "strict" });
      const [states, outbox] = [STATE, OUTBOX].map((name) => transaction.objectStore(name));
      let [result, failure] = [undefined, null];
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(failure ?? transaction.error);
      const asked = states.get(STATE);
      const look = (waiting) => {
        try {
          const state = asked.result ?? null;
          const done = change(state, waiting);
          result = done.result;
          if (done.state ?? state) states.put(done.state ?? state, STATE);
          if (done.fetched) states.put(done.fetched, FETCHED);
          for (const report of done.put ?? []) outbox.put(report);
          for (const id of done.drop ?? []) outbox.delete(id);
        } catch (error) {
          failure = error;
          transaction.abort();
        }
      };
      const all = () => {
        const waiting = outbox.getAll();
        waiting.onsuccess = () => look(waiting.result);
      };
      if (known === null) return all();
      const count = outbox.count();
      count.onsuccess = () => (count.result === known ? look({ length: known }) : all());
    });
  }

  /** Return the stored state, or null, all waiting reports, and the survey that was fetched. */
  read() {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction([STATE, OUTBOX], "readonly");
      const state = transaction.objectStore(STATE).get(STATE);
      const fetched = transaction.objectStore(STATE).get(FETCHED);
      const waiting = transaction.objectStore(OUTBOX).getAll();
      transaction.oncomplete = () =>
        resolve([state.result ?? null, waiting.result, fetched.result ?? null]);
      transaction.onabort = () => reject(transaction.error);
    });
  }

  close() {
    this.#database.close();
  }
}
