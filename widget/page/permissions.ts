/** What a Chromium without a window refuses at once, by the names of the Permissions API. */
const NAMES = ['geolocation', 'notifications', 'clipboard-read', 'camera', 'microphone', 'local-fonts', 'window-management', 'idle-detection'];

/**
 * Tells when the document has asked for a permission and was refused it without anybody being asked: its state goes from `prompt` to
 * `denied`. A permission is the whole page's, so that only its main frame looks; where the page may never have one, nothing changes.
 */
export function followPermissions(refused: (name: string) => void): void {
  if (window.top !== window || !isSecureContext || !location.protocol.startsWith('http')) return;
  for (const name of NAMES) {
    navigator.permissions.query({ name: name as PermissionName }).then(
      (status) => {
        let before = status.state;
        status.addEventListener('change', () => {
          if (before === 'prompt' && status.state === 'denied') refused(name);
          before = status.state;
        });
        followed.push(status);
      },
      () => {}, // This Chromium does not know it.
    );
  }
}

/** Nothing else keeps them. */
const followed: PermissionStatus[] = [];
