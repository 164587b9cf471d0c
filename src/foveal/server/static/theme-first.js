// Before the first paint: sets the chosen theme, else the system's.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("foveal-theme");
  } catch {
    // no access to storage: use the system's theme
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen ?? (dark ? "dark" : "light");
}
