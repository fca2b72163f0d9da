import { enableCopying } from '../copying.js';
import { enableMenus } from '../menus.js';
import { startTicking } from '../times.js';

enableMenus();
enableCopying();
startTicking();
