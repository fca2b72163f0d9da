import { enableCopying } from '../copying.js';
import { enableMenus } from '../menus.js';

enableMenus();
enableCopying();
