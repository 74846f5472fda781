// The component that is mounted for the Board and the Player. Streamlit sends a component's script again with
// every change of its data, so this one is a few lines; main.js leaves the real one in window.svmvizStage.

/** Mount or update a stage; before the code has arrived, do it when it arrives. */
export default function load(component) {
  if (window.svmvizStage) return window.svmvizStage(component);
  let unmount = () => {};
  const start = () => { unmount = window.svmvizStage(component); };
  window.addEventListener("svmviz-stage", start, { once: true });
  return () => {
    window.removeEventListener("svmviz-stage", start);
    unmount();
  };
}
