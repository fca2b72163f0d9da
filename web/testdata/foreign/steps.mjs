// Counts the operations of a program, and names the one that failed.
import assert from 'node:assert/strict';

let done = 0;

/** Does one operation of a client. What it returns must be `want`, match it, or be true. */
export async function step(name, operation, want = true) {
  try {
    const got = await operation();
    if (want instanceof RegExp) assert.match(String(got), want);
    else assert.deepEqual(want === true ? Boolean(got) : got, want);
    done++;
    return got;
  } catch (error) {
    console.error(`operation ${done + 1}, ${name}, failed:`, error);
    process.exit(1);
  }
}

/** Ends the program, and says how many operations were done. */
export function end() {
  console.log(`${done} operations`);
  process.exit(0);
}
