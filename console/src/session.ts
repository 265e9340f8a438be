// Signing in: OAuth's code flow with PKCE at the pool's own pages. Tokens are kept in memory and nowhere
// else, so a reload asks the pool again, which still knows the browser. What must outlast the way there and
// back, the proof, the state and the place on the page, is kept for this tab alone and taken away at once.

import * as oauth from "oauth4webapi";
import type { Credentials } from "./api";
import { home, type SignIn } from "./config";
import { Problem, SignInDenied } from "./problem";
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
  isRefreshed: boolean;
  /** Whether the API has accepted it. */
  isAccepted: boolean;
}

const UNAUTHORIZED = 401;
/** A pool answers so to a request that it will not honour; other statuses are faults that pass. */
const REFUSED = 400;

let tokens: Tokens | null = null;
/** Whether the page is being left for the pool: a read that begins meanwhile must not sign in again. */
let isSignedOut = false;
let renewing: Promise<void> | null = null;

/** Signs in, which may leave the page; then gives what gets a token that holds. */
export async function signIn(at: SignIn | null): Promise<Credentials | null> {
  if (at === null) return null;
  const credentials = {
    token: () => held(at),
    renewed: (rejected: string) => renewed(at, rejected),
    accepted: () => {
      if (tokens) tokens.isAccepted = true;
    },
  };
  if (tokens) return credentials; // a start that failed after the sign-in
  const kept = takeKept();
  const here = new URL(location.href);
  if (here.searchParams.has("error")) {
    go(home + (kept?.place ?? here.hash), { replace: true }); // to start again is to sign in again
    throw new SignInDenied(reasonOf(here.searchParams));
  }
  if (kept && here.searchParams.has("code")) {
    await redeem(at, here, kept);
  } else {
    await leave(at);
  }
  return credentials;
}

function reasonOf(answer: URLSearchParams): string {
  const description = answer.get("error_description");
  return description ? `${description} (${answer.get("error")})` : String(answer.get("error"));
}

/** Forgets the tokens and ends the pool's own session; leaves the page. */
export function signOut(at: SignIn): void {
  tokens = null;
  isSignedOut = true;
  const out = new URL("/logout", at.url);
  out.search = new URLSearchParams({ client_id: at.client_id, logout_uri: home }).toString();
  location.assign(out);
}

async function held(at: SignIn): Promise<string> {
  if (isSignedOut) await new Promise(() => {}); // for as long as the page is there
  if (!tokens || tokens.endsAt - EARLY < Date.now()) {
    renewing ??= renew(at).finally(() => {
      renewing = null;
    });
    await renewing;
  }
  return tokens!.id;
}

/**
 * A token in the place of one that the API rejected; null if another would be rejected, too. If the session
 * has ended, the page is left for the sign-in.
 */
async function renewed(at: SignIn, rejected: string): Promise<string | null> {
  if (tokens?.id !== rejected) return held(at); // it was renewed meanwhile
  if (tokens.isRefreshed && !tokens.isAccepted) return leaveForSignIn(at);
  if (!tokens.isAccepted) return null;
  renewing ??= renew(at).finally(() => {
    renewing = null;
  });
  await renewing;
  return tokens.id;
}

/** Leaves for the sign-in, unless a dialog is open, whose input would be lost. */
async function leaveForSignIn(at: SignIn): Promise<never> {
  if (!document.querySelector("dialog[open]")) return leave(at);
  throw new Problem(UNAUTHORIZED, "session-ended", "", "");
}

async function renew(at: SignIn): Promise<void> {
  if (!tokens?.refresh) return leaveForSignIn(at);
  const refresh = tokens.refresh;
  const response = await oauth.refreshTokenGrantRequest(
    server(at),
    client(at),
    oauth.None(),
    refresh,
    options(at),
  );
  if (response.status === REFUSED) return leaveForSignIn(at); // the session has ended, or was revoked
  keep(await oauth.processRefreshTokenResponse(server(at), client(at), response), refresh);
}

async function redeem(at: SignIn, here: URL, kept: Kept): Promise<void> {
  go(home + kept.place, { replace: true });
  const params = oauth.validateAuthResponse(server(at), client(at), here, kept.state);
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
    isRefreshed: refresh !== undefined,
    isAccepted: false,
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
