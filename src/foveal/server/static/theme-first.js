// Before the first paint: the theme that was chosen, else the system's.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("foveal-theme");
  } catch {
    // storage is closed: the system's theme it is
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen ?? (dark ? "dark" : "light");
}
