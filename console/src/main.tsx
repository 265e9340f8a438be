// Begins: what the page must know of where it is, who signs in, and then the screens.

import "./style/index.css";
import { render } from "preact";
import { startApi } from "./api";
import { App } from "./app";
import { loadConfig } from "./config";
import { loadCaller } from "./me";
import { signIn } from "./session";
import { CannotStart } from "./ui/cannot-start";

const root = document.getElementById("root") as HTMLElement;

async function start(): Promise<void> {
  const config = await loadConfig();
  const token = await signIn(config.sign_in);
  startApi(config, token);
  await loadCaller();
  root.replaceChildren();
  render(<App />, root);
}

start().catch((error: unknown) => {
  root.replaceChildren();
  render(<CannotStart error={error} />, root);
});
