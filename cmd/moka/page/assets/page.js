// Keeps a page up to date: panels come as server-sent events and replace those that are shown. Without this
// file the page is what it was when it was loaded.
"use strict";
(() => {
  const live = document.getElementById("live");
  const pause = document.getElementById("pause");
  let source = null, paused = false, last = Date.now();

  const say = (text, state) => {
    if (live.textContent !== text) live.textContent = text;
    live.dataset.state = state;
  };

  // A panel is left alone while somebody types in it, has a button of it in focus, or marks its text.
  const inUse = (panel) => {
    if (panel.contains(document.activeElement)) return true;
    const marked = document.getSelection();
    return marked && !marked.isCollapsed && panel.contains(marked.anchorNode);
  };

  const show = (id, html) => {
    const panel = document.getElementById(id);
    if (!panel || inUse(panel)) return;
    const scrolled = [...panel.querySelectorAll(".scroll")].map((e) => [e.scrollLeft, e.scrollTop]);
    const open = [...panel.querySelectorAll("details")].map((e) => e.open);
    panel.innerHTML = html; // by the server's templates, which escape
    panel.querySelectorAll(".scroll").forEach((e, i) => {
      if (scrolled[i]) [e.scrollLeft, e.scrollTop] = scrolled[i];
    });
    panel.querySelectorAll("details").forEach((e, i) => { e.open = !!open[i]; });
  };

  const start = () => {
    // From the origin: an address with a password in it is none that a script may ask for.
    source = new EventSource(new URL(document.body.dataset.events, location.origin));
    source.addEventListener("panel", (e) => {
      const panel = JSON.parse(e.data);
      show(panel.id, panel.html);
    });
    source.addEventListener("tick", () => { last = Date.now(); say("live", "live"); });
    source.onerror = () => say("connecting again", "lost");
  };

  const stop = () => { if (source) source.close(); source = null; };

  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Go on" : "Pause";
    if (paused) { stop(); say("paused", "paused"); } else start();
  });
  // A page that nobody sees asks for nothing.
  document.addEventListener("visibilitychange", () => {
    if (paused) return;
    if (document.hidden) stop(); else if (!source) start();
  });
  setInterval(() => {
    if (!paused && !document.hidden && Date.now() - last > 20000) say("no news for a while", "lost");
  }, 5000);
  start();
})();
