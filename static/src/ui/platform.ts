/** Returns whether the person's system has a Command key. */
export const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);
