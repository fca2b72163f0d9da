import base from '../../e2e/playwright.config.js';
import path from 'node:path';

export default { ...base, testDir: '.', outputDir: path.join(import.meta.dirname, '../../test-results'), workers: 1 };
