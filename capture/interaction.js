// Reports what a user does in a page: clicks, keys and scrolls. It runs in an isolated world, where the page can neither see nor call it. It listens
// passively, so that it changes nothing.
(() => {
  const bindingName = "__takeoverCapture";
  const installed = "__takeoverCaptureInstalled";
  if (globalThis[installed]) return;
  globalThis[installed] = true;

  const perSecond = 20; // reports of each kind
  const scrollEvery = 100; // ms; scrolls in between become one

  const windows = {};
  const allowed = (kind) => {
    const now = performance.now();
    const w = (windows[kind] ||= { start: now, count: 0 });
    if (now - w.start >= 1000) { w.start = now; w.count = 0; }
    return ++w.count <= perSecond;
  };
  const report = (kind, data) => {
    if (!allowed(kind)) return;
    try { globalThis[bindingName](JSON.stringify({ kind, t: Date.now(), ...data })); } catch { /* switched off */ }
  };

  const sensitive = (element) => {
    if (!element || !element.getAttribute) return false;
    if (element.localName === "input" && element.type === "password") return true;
    const complete = (element.getAttribute("autocomplete") || "").toLowerCase();
    if (/(^|\s)(cc-\S+|one-time-code|current-password|new-password)(\s|$)/.test(complete)) return true;
    // A page may show its own fields as dots.
    return !["", "none"].includes(getComputedStyle(element).getPropertyValue("-webkit-text-security"));
  };

  const step = (element) => {
    const tag = element.localName || "";
    if (element.id && element.id.length < 100) return tag + "#" + CSS.escape(element.id);
    const test = element.getAttribute && element.getAttribute("data-testid");
    if (test && test.length < 100) return tag + "[data-testid=" + JSON.stringify(test) + "]";
    const name = element.getAttribute && element.getAttribute("name");
    if (name && name.length < 100) return tag + "[name=" + JSON.stringify(name) + "]";
    let nth = 1, more = false;
    for (let e = element.previousElementSibling, n = 0; e && n < 1000; e = e.previousElementSibling, n++) if (e.localName === tag) nth++;
    for (let e = element.nextElementSibling, n = 0; e && !more && n < 1000; e = e.nextElementSibling, n++) more = e.localName === tag;
    return nth > 1 || more ? `${tag}:nth-of-type(${nth})` : tag;
  };
  const selector = (element) => {
    const path = [];
    for (let e = element; e && e.nodeType === 1 && path.length < 6; e = e.parentElement) {
      path.unshift(step(e));
      if (e.id || e === document.body) break;
    }
    return path.join(" > ");
  };
  const target = (event) => {
    const first = event.composedPath()[0];
    return first && first.nodeType === 1 ? first : event.target && event.target.nodeType === 1 ? event.target : document.documentElement;
  };
  const text = (element) => {
    if (!element || ["input", "textarea", "select", "html", "body"].includes(element.localName) || element.isContentEditable) return "";
    if (element.getElementsByTagName("*").length > 50) return "";
    return (element.textContent || "").replace(/\s+/g, " ").trim().slice(0, 100);
  };

  const passive = { capture: true, passive: true };
  addEventListener("click", (event) => {
    if (!event.isTrusted) return;
    const element = target(event);
    report("click", { x: event.clientX, y: event.clientY, selector: selector(element), tag: element.localName, text: text(element) });
  }, passive);

  addEventListener("keydown", (event) => {
    if (!event.isTrusted) return;
    const element = target(event);
    if (sensitive(element) || sensitive(document.activeElement)) return;
    // When the key was pressed. A busy page reports that late.
    const t = Date.now() - (performance.now() - event.timeStamp);
    report("key", { t, key: event.key, selector: selector(element), tag: element.localName });
  }, passive);

  const places = new WeakMap();
  const position = (at) => at === document ? { x: scrollX, y: scrollY } : { x: at.scrollLeft, y: at.scrollTop };
  places.set(document, { x: 0, y: 0 });
  addEventListener("scroll", (event) => {
    const at = event.target;
    if (!at || (at !== document && at.nodeType !== 1)) return;
    let place = places.get(at);
    if (!place) places.set(at, (place = { x: 0, y: 0 }));
    if (place.timer) return;
    place.timer = setTimeout(() => {
      place.timer = 0;
      const now = position(at);
      if (Math.abs(now.x - place.x) <= 5 && Math.abs(now.y - place.y) <= 5) return;
      report("scroll", { fromX: place.x, fromY: place.y, toX: now.x, toY: now.y, selector: at === document ? "document" : selector(at) });
      place.x = now.x;
      place.y = now.y;
    }, scrollEvery);
  }, passive);
})();
