/** The value of a device that has nothing to say, where a question is always sent. */
export const ABSENT = Symbol("absent");
