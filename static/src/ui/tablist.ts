/** Makes the tabs of a list choose panels: by a click, and by the arrow keys. `chosen` is told each time. Returns a function that chooses a tab by its id. */
export function enableTabs(list: HTMLElement, chosen: (id: string) => void = () => undefined): (id: string) => void {
  const tabs = [...list.querySelectorAll<HTMLElement>('[role=tab]')];
  const choose = (id: string): void => {
    if (!tabs.some((tab) => tab.id === id)) return;
    for (const tab of tabs) {
      const on = tab.id === id;
      tab.setAttribute('aria-selected', String(on));
      tab.tabIndex = on ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute('aria-controls') ?? '');
      if (panel) panel.hidden = !on;
    }
    chosen(id);
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => choose(tab.id));
    tab.addEventListener('keydown', (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
      const next = to === undefined || event.altKey || event.ctrlKey || event.metaKey ? undefined : tabs[(to + tabs.length) % tabs.length];
      if (!next) return;
      event.preventDefault();
      choose(next.id);
      next.focus();
    });
  });
  return choose;
}
