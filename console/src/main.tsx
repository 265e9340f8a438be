// Begins: what the page must know of where it is, who signs in, and then the screens.

import "./style/index.css";
import { render } from "preact";
import { startApi } from "./api";
import { App } from "./app";
import { loadConfig } from "./config";
import { loadCaller } from "./me";
import { place } from "./route";
import { loadScreen } from "./screens";
import { CannotStart } from "./ui/cannot-start";
import { loadLanguage } from "./words";

const root = document.getElementById("root") as HTMLElement;

async function start(): Promise<void> {
  const screen = loadScreen(place.value.parts);
  const [config] = await Promise.all([loadConfig(), loadLanguage()]);
  const session = config.sign_in && (await import("./session"));
  startApi(config, session && (await session.signIn(config.sign_in)));
  await Promise.all([loadCaller(), screen]);
  render(null, root);
  root.replaceChildren();
  render(<App />, root);
}

function begin(): void {
  start().catch((error: unknown) => {
    render(null, root);
    root.replaceChildren();
    render(<CannotStart error={error} retry={begin} />, root);
  });
}

begin();
