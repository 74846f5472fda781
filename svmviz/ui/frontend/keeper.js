// The component that carries a path: the page of paths finds it by its key in window.svmvizPaths.

export default function keep(component) {
  hideRow(component);
  const { key, path, most } = component.data; // most: so many are kept
  if (!path) return;
  const paths = (window.svmvizPaths ??= new Map());
  paths.delete(key);
  paths.set(key, path);
  for (const old of paths.keys()) if (paths.size > most) paths.delete(old);
  window.dispatchEvent(new Event("svmviz-path"));
}
