// What a program and the person in its session tell each other, in lines of text.
import { once } from 'node:events';

/** Says that the pages are there, and waits until the person has control. */
export async function personTakes() {
  const taken = once(process.stdin, 'data');
  console.log('ready');
  await taken;
  process.stdin.destroy();
}

/**
 * Takes what writes, promises that are under way, and does what reads beside them. Then lets
 * the person work. Returns what the promises give, which comes only when the person has
 * handed back.
 */
export async function personWorks(writes, read = async () => {}) {
  const written = writes.map((one) => one.finally(() => console.log('written')));
  await read();
  console.log('sent');
  return Promise.all(written);
}
