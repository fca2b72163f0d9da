/** Permissions that a Chromium without a window refuses at once, by the names of the Permissions API. */
const NAMES = ['geolocation', 'notifications', 'clipboard-read', 'camera', 'microphone', 'local-fonts', 'window-management', 'idle-detection'];

/**
 * Reports when the document asked for a permission and was refused without a question: the state changes from `prompt` to `denied`. A permission
 * belongs to the whole page, so only the main frame observes it. If the page may never have the permission, its state does not change.
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
      () => {}, // This Chromium does not know the permission.
    );
  }
}

/** Keeps these objects from being garbage-collected. */
const followed: PermissionStatus[] = [];
