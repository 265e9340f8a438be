// The page's configuration: config.json beside it.

import { Problem } from "./problem";

export interface SignIn {
  /** Of the pool's sign-in pages. */
  url: string;
  /** Who tokens are from: the pool. */
  issuer: string;
  client_id: string;
}

export interface Config {
  api: string;
  sign_in: SignIn | null;
  links: { label: string; href: string }[];
  /** The address of the deployment's runbook; null: `duetime deployment runbook` prints it. */
  runbook: string | null;
}

export let config: Config = { api: "api/v1", sign_in: null, links: [], runbook: null };

/**
 * Where the page is, without what follows the path: relative links start here. A stage of API Gateway serves
 * the page without a slash at the end, too; a file such as index.html is not part of the address.
 */
export const home = new URL(".", `${location.origin}${withSlash(location.pathname)}`).href;

function withSlash(path: string): string {
  return /(\/|\.\w+)$/.test(path) ? path : `${path}/`;
}

export async function loadConfig(): Promise<Config> {
  const response = await fetch(new URL("config.json", home));
  if (!response.ok) throw new Problem(response.status, "config", "", `config.json: ${response.status}`);
  config = (await response.json()) as Config;
  return config;
}
