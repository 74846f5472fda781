// The component that carries the link to the workspace into the address of the page: a reload opens it again.

const ADDRESS_REST = 400; // milliseconds: browsers refuse to change the address more often for long

/** The link in the address, with what Streamlit needs where the app is embedded. */
function writeAddress() {
  const { search, pathname, hash } = location;
  const embedding = [...new URLSearchParams(search)].filter(([name]) => name.startsWith("embed"));
  const query = [window.svmvizLink.query, String(new URLSearchParams(embedding))].filter(Boolean).join("&");
  const wanted = query ? `?${query}` : "";
  if (wanted !== search) history.replaceState(history.state, "", pathname + wanted + hash);
}

export default function keepLink(component) {
  hideRow(component);
  clearTimeout(window.svmvizLink?.timer);
  window.svmvizLink = { ...component.data, timer: setTimeout(writeAddress, ADDRESS_REST) };
  window.dispatchEvent(new Event("svmviz-link"));
}
