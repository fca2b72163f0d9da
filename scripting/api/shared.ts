// The modules of api.js that bundles loaded later also use (build.mjs). A run has only one copy of each, because they have state and classes.

import * as answer from './core/answer.ts';
import * as call from './core/call.ts';
import * as contextoptions from './objects/contextoptions.ts';
import * as errors from './core/errors.ts';
import * as hints from './core/hints.ts';
import * as inspect from './node/inspect.ts';
import * as later from './core/later.ts';
import * as locator from './objects/locator.ts';
import * as network from './net/network.ts';
import * as page from './objects/page.ts';
import * as payload from './net/payload.ts';
import * as pending from './core/pending.ts';
import * as selectors from './core/selectors.ts';
import * as soft from './expect/soft.ts';
import * as sources from './core/sources.ts';
import * as takeover from './objects/takeover.ts';
import * as values from './core/values.ts';
import * as wording from './core/wording.ts';

/** The modules by the names of their files. */
export const shared = { answer, call, contextoptions, errors, hints, inspect, later, locator, network, page, payload, pending, selectors, soft, sources, takeover, values, wording };
