// The modules of api.js that bundles loaded later use as well (build.mjs): each
// is there once, as its state and its classes have to be.

import * as call from './call.ts';
import * as contextoptions from './contextoptions.ts';
import * as errors from './errors.ts';
import * as hints from './hints.ts';
import * as inspect from './inspect.ts';
import * as later from './later.ts';
import * as locator from './locator.ts';
import * as network from './network.ts';
import * as page from './page.ts';
import * as payload from './payload.ts';
import * as pending from './pending.ts';
import * as selectors from './selectors.ts';
import * as soft from './soft.ts';
import * as takeover from './takeover.ts';
import * as values from './values.ts';
import * as wording from './wording.ts';

/** They by the names of their files. */
export const shared = { call, contextoptions, errors, hints, inspect, later, locator, network, page, payload, pending, selectors, soft, takeover, values, wording };
