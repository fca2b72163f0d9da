// Node's Buffer, from npm.

export { Buffer } from 'buffer/';
