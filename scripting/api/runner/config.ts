// The configuration that a test sees. It always has the default values.

/** Default timeout of a test in ms, as in Playwright. */
export const defaultTestTimeout = 30_000;

/** The folder of outputs that a test sees. */
export const testResults = '/test-results';

/** Options of a test that newContext accepts under the same names. */
export const optionNames = [
  'acceptDownloads', 'baseURL', 'bypassCSP', 'clientCertificates', 'colorScheme', 'contrast', 'deviceScaleFactor', 'extraHTTPHeaders', 'forcedColors',
  'geolocation', 'hasTouch', 'httpCredentials', 'ignoreHTTPSErrors', 'isMobile', 'javaScriptEnabled', 'locale', 'offline', 'permissions', 'proxy',
  'reducedMotion', 'screen', 'serviceWorkers', 'storageState', 'timezoneId', 'userAgent', 'viewport',
];

/** testInfo.project. */
export const project = {
  grep: /.*/,
  grepInvert: null,
  outputDir: testResults,
  repeatEach: 1,
  retries: 0,
  metadata: {},
  name: 'chromium',
  testDir: '/',
  snapshotDir: '/',
  testIgnore: [] as string[],
  testMatch: '**/*.@(spec|test).?(c|m)[jt]s?(x)',
  timeout: defaultTestTimeout,
  use: {} as Record<string, unknown>,
  dependencies: [] as string[],
  teardown: undefined,
  ignoreSnapshots: false,
};

/** testInfo.config. */
export const config = {
  argv: [] as string[],
  rootDir: '/',
  failOnFlakyTests: false,
  forbidOnly: false,
  fullyParallel: false,
  globalSetup: null,
  globalTeardown: null,
  globalTimeout: 0,
  grep: /.*/,
  grepInvert: null,
  maxFailures: 0,
  metadata: {},
  preserveOutput: 'always',
  projects: [project],
  filteredProjects: [project],
  quiet: false,
  reporter: [] as unknown[],
  reportSlowTests: null,
  shard: null,
  tags: [] as string[],
  updateSnapshots: 'missing',
  updateSourceMethod: 'patch',
  version: '1.65.1',
  workers: 1,
  webServer: null,
};

/** Implements defineConfig. A configuration in the same file has no effect, so it is only merged, as in Playwright. */
export function defineConfig(...configs: Record<string, unknown>[]): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const c of configs) {
    for (const [key, value] of Object.entries(c))
      out[key] = (key === 'use' || key === 'expect') && typeof out[key] === 'object' ? { ...out[key] as object, ...value as object } : value;
  }
  return out;
}
