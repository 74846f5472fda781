// For components that show nothing.

/** Take the row away that the page has for a component. */
function hideRow({ parentElement }) {
  const place = parentElement.host.closest('[data-testid="stElementContainer"]');
  if (place) place.style.display = "none";
}
