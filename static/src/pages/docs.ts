import { enableExamples } from '../docs/examples.js';
import { enableIndex } from '../docs/index.js';
import { enableCopying } from '../ui/copying.js';
import { enableKeys } from '../ui/keys.js';
import { enableMenus } from '../ui/menus.js';
import { startTicking } from '../ui/times.js';
import { tellOfCalls } from '../ui/watching.js';

enableExamples();
enableIndex();
enableMenus();
enableKeys();
tellOfCalls();
enableCopying();
startTicking();
