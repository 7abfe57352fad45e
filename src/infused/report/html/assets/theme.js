// Sets the theme before anything is painted: the reader's own choice, else that of the system.
"use strict";
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const remembered = () => {
    try { return localStorage.getItem("infused-theme"); } catch { return null; }  // no storage: the system decides
  };
  const current = () => remembered() || (system.matches ? "dark" : "light");
  const show = (theme) => {
    root.dataset.theme = theme;
    root.dispatchEvent(new Event("themechange"));
  };
  window.infusedTheme = {
    show,
    current,
    toggle() {
      const theme = root.dataset.theme === "dark" ? "light" : "dark";
      try { localStorage.setItem("infused-theme", theme); } catch { /* then it lasts as long as the page */ }
      show(theme);
    },
  };
  system.addEventListener("change", () => show(current()));
  show(current());
})();
