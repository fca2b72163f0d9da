import { Emitter } from '../core/emitter.ts';

/** The base class of all objects of the API. Its id identifies the object to the server. */
export class ApiObject extends Emitter {
  /** @internal */
  readonly _guid!: string;

  constructor(guid: string) {
    super();
    Object.defineProperty(this, '_guid', { value: guid });
    Object.defineProperty(this, '_listeners', { enumerable: false });
  }

  /** @internal */
  toJSON(): object { return { _type: this.constructor.name, _guid: this._guid }; }
}

/** Sets fields of an object that do not appear in JSON or console output. */
export function hide(target: object, ...names: string[]): void {
  for (const name of names)
    Object.defineProperty(target, name, { enumerable: false });
}
