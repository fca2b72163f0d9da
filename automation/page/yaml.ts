// The YAML library that Playwright's injected script parses ARIA snapshots with.
// It goes to a page when a script first matches one there.
export * from 'yaml';
