import { enableCopying } from '../copying.js';
import { enableMenus } from '../menus.js';
import { startTicking } from '../times.js';
import { tellOfCalls } from '../watching.js';

enableMenus();
tellOfCalls();
enableCopying();
startTicking();
