/** What is under the pointer when somebody opens the context menu. */
export interface Under {
  link: string;
  image: string;
  selected: boolean;
  editable: boolean;
}

/** Longer addresses are not reported. */
const LONGEST = 1500;

/** Reports each context menu that Chromium would open, that is, each whose event the page did not handle itself. */
export function menuWanted(tell: (menu: Under) => void): (event: Event) => void {
  return (event) => {
    if (!event.isTrusted) return;
    const path = event.composedPath();
    setTimeout(() => !event.defaultPrevented && tell(under(path)));
  };
}

function under(path: EventTarget[]): Under {
  const elements = path.filter((target) => target instanceof Element);
  const link = elements.find((element) => (element instanceof HTMLAnchorElement || element instanceof HTMLAreaElement) && element.href !== '');
  const [target] = elements;
  const field = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement ? target : null;
  return {
    link: link instanceof HTMLAnchorElement || link instanceof HTMLAreaElement ? address(link.href) : '',
    image: target instanceof HTMLImageElement ? address(target.currentSrc) : '',
    selected: selects(field) || (getSelection()?.toString() ?? '') !== '',
    editable: (field !== null && !field.readOnly && !field.disabled) || (target instanceof HTMLElement && target.isContentEditable),
  };
}

/** Returns whether text is selected in a field. The document's selection does not include that. */
function selects(field: HTMLInputElement | HTMLTextAreaElement | null): boolean {
  try {
    return field !== null && field.selectionStart !== field.selectionEnd;
  } catch {
    return false; // Some inputs have no selection.
  }
}

/** Returns an address if it can be opened or copied, and an empty text otherwise. */
function address(text: string): string {
  return /^https?:/.test(text) && text.length <= LONGEST ? text : '';
}
