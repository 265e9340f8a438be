// Signing in: OAuth's code flow with PKCE at the pool's own pages. Tokens are kept in memory and nowhere
// else, so a reload asks the pool again, which still knows the browser. What must outlast the way there and
// back, the proof, the state and the place on the page, is kept for this tab alone and taken away at once.

import * as oauth from "oauth4webapi";
import type { Token } from "./api";
import { home, type SignIn } from "./config";
import { go } from "./route";

const KEPT = "duetime.signing-in";
const EARLY = 60_000; // so long before a token ends a new one is fetched, in milliseconds

interface Kept {
  verifier: string;
  state: string;
  place: string;
}

interface Tokens {
  id: string;
  refresh: string | undefined;
  endsAt: number;
}

let tokens: Tokens | null = null;
let renewing: Promise<void> | null = null;

/** Signs in, which may leave the page; then gives what gets a token that holds. */
export async function signIn(at: SignIn | null): Promise<Token> {
  if (at === null) return async () => null;
  const kept = takeKept();
  const here = new URL(location.href);
  if (kept && (here.searchParams.has("code") || here.searchParams.has("error"))) {
    await redeem(at, here, kept);
  } else {
    await leave(at);
  }
  return () => held(at);
}

/** Forgets the tokens and ends the pool's own session; leaves the page. */
export function signOut(at: SignIn): void {
  tokens = null;
  const out = new URL("/logout", at.url);
  out.search = new URLSearchParams({ client_id: at.client_id, logout_uri: home }).toString();
  location.assign(out);
}

async function held(at: SignIn): Promise<string> {
  if (!tokens || tokens.endsAt - EARLY < Date.now()) {
    renewing ??= renew(at).finally(() => {
      renewing = null;
    });
    await renewing;
  }
  return tokens!.id;
}

async function renew(at: SignIn): Promise<void> {
  if (!tokens?.refresh) return leave(at);
  const refresh = tokens.refresh;
  const response = await oauth.refreshTokenGrantRequest(
    server(at),
    client(at),
    oauth.None(),
    refresh,
    options(at),
  );
  try {
    keep(await oauth.processRefreshTokenResponse(server(at), client(at), response), refresh);
  } catch {
    await leave(at); // it has ended, or was revoked
  }
}

async function redeem(at: SignIn, here: URL, kept: Kept): Promise<void> {
  const params = oauth.validateAuthResponse(server(at), client(at), here, kept.state);
  go(home + kept.place, { replace: true });
  const response = await oauth.authorizationCodeGrantRequest(
    server(at),
    client(at),
    oauth.None(),
    params,
    home,
    kept.verifier,
    options(at),
  );
  keep(await oauth.processAuthorizationCodeResponse(server(at), client(at), response));
}

function keep(answer: oauth.TokenEndpointResponse, refresh?: string): void {
  if (!answer.id_token) throw new Error("the sign-in gave no ID token");
  tokens = {
    id: answer.id_token,
    refresh: answer.refresh_token ?? refresh,
    endsAt: Date.now() + (answer.expires_in ?? 3600) * 1000,
  };
}

/** Goes to the sign-in pages; what comes after this is never reached. */
async function leave(at: SignIn): Promise<never> {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  sessionStorage.setItem(KEPT, JSON.stringify({ verifier, state, place: location.hash } satisfies Kept));
  const there = new URL("/oauth2/authorize", at.url);
  there.search = new URLSearchParams({
    response_type: "code",
    client_id: at.client_id,
    redirect_uri: home,
    scope: "openid", // alone: with another beside it, Cognito leaves the tenant out of the ID token
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  }).toString();
  location.assign(there);
  return new Promise(() => {});
}

function takeKept(): Kept | null {
  const kept = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  return kept === null ? null : (JSON.parse(kept) as Kept);
}

function server(at: SignIn): oauth.AuthorizationServer {
  return { issuer: at.issuer, token_endpoint: new URL("/oauth2/token", at.url).href };
}

/** A provider on the reader's own machine, as an emulator is, may do without TLS. */
function options(at: SignIn): { [oauth.allowInsecureRequests]: boolean } {
  return { [oauth.allowInsecureRequests]: ["localhost", "127.0.0.1"].includes(new URL(at.url).hostname) };
}

function client(at: SignIn): oauth.Client {
  return { client_id: at.client_id };
}
