import { enableCopying } from '../ui/copying.js';
import { enableMenus } from '../ui/menus.js';
import { startTicking } from '../ui/times.js';
import { tellOfCalls } from '../ui/watching.js';

enableMenus();
tellOfCalls();
enableCopying();
startTicking();
