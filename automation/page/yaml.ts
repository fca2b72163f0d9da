// The YAML library with which Playwright's injected script parses ARIA snapshots. A page gets it when a script first matches a snapshot there.
export * from 'yaml';
