// The admin API, typed by its OpenAPI document. All that the page knows and does goes through here.

import createClient, { type Client } from "openapi-fetch";
import { learnFrom } from "./clock";
import { type Config, home } from "./config";
import { isObject, readResponse, writeJson } from "./json";
import { Problem, problemOf, UNREACHABLE } from "./problem";
import { bodyOf, together } from "./reads";
import type { components, paths } from "./schema.d.ts";
import { say } from "./api.words";

export type Schemas = components["schemas"];

/** Of a sign-in: what requests are sent with. */
export interface Credentials {
  /** A token that holds for the next request. */
  token: () => Promise<string>;
  /** A token in the place of one that the API rejected; null if there is none. */
  renewed: (rejected: string) => Promise<string | null>;
  /** The API has accepted the token. */
  accepted: () => void;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The API's client. Its responses are text: `call` reads them, so that numbers stay exact. */
export let api: Pick<Client<paths>, Method>;

let address = "";

/** The API's address, without a slash at its end. */
export const apiAddress = () => address;

export function startApi(config: Config, credentials: Credentials | null): void {
  address = new URL(config.api, home).href.replace(/\/$/, "");
  const client = createClient<paths>({
    baseUrl: address,
    querySerializer: { array: { style: "form", explode: true } },
    bodySerializer: (body) => writeJson(body),
    fetch: together(credentials ? signed(credentials) : fetchInTime, address),
  });
  api = {
    GET: asText(client.GET),
    POST: asText(client.POST),
    PUT: asText(client.PUT),
    PATCH: asText(client.PATCH),
    DELETE: asText(client.DELETE),
  };
}

const UNAUTHORIZED = 401;

/** Send requests with a token; one that the API rejects is renewed, and the request is sent once more. */
function signed({ token, renewed, accepted }: Credentials) {
  return async (request: Request): Promise<Response> => {
    const again = request.clone();
    const held = await token();
    request.headers.set("Authorization", held);
    const response = await fetchInTime(request);
    if (response.status !== UNAUTHORIZED) accepted();
    const other = response.status === UNAUTHORIZED && (await renewed(held));
    if (!other) return response;
    again.headers.set("Authorization", other);
    return fetchInTime(again);
  };
}

/** Milliseconds; API Gateway itself gives up after 29 s. A local cloud may count for longer before a change. */
const LONGEST = { read: 30_000, change: 300_000 };
const BODILESS = [204, 205, 304];

/** Send a request, and read its response; one that takes longer than that is a problem. */
async function fetchInTime(request: Request): Promise<Response> {
  const late = new AbortController();
  const longest = request.method === "GET" ? LONGEST.read : LONGEST.change;
  const timer = setTimeout(() => late.abort(), longest);
  try {
    if (request.method !== "GET") request.headers.set("Content-Type", "application/json");
    const response = await fetch(request, { signal: AbortSignal.any([request.signal, late.signal]) });
    learnFrom(response.headers.get("Date"));
    const { status, headers } = response;
    const text = await response.text();
    return new Response(BODILESS.includes(status) ? null : text, { status, headers });
  } catch (error) {
    if (!late.signal.aborted) throw error;
    const why = request.method === "GET" ? "late" : "late_change";
    throw new Problem(UNREACHABLE, "late", "", say(why, { n: longest / 1_000 }));
  } finally {
    clearTimeout(timer);
  }
}

function asText<T>(send: T): T {
  const untyped = send as (path: string, init?: object) => unknown;
  return ((path: string, init?: object) => untyped(path, { ...init, parseAs: "text" })) as T;
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** What the API answered with; a refusal and silence are a Problem. */
export async function call<T>(request: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await request;
  } catch (error) {
    if (error instanceof Problem || (error instanceof DOMException && error.name === "AbortError"))
      throw error;
    throw new Problem(UNREACHABLE, "unreachable", "", "");
  }
  const { response } = answer;
  if (!response.ok) throw problemOf(response.status, answer.error);
  if (response.status === NO_CONTENT) return undefined as T;
  const body = bodyOf(response);
  return read(
    body === undefined ? () => readResponse(String(answer.data ?? "")) : () => body,
    response.status,
  ) as T;
}

const NO_CONTENT = 204;

/** Every response of the API is a JSON object; anything else is not the API's. */
function read(load: () => unknown, status: number): unknown {
  let body: unknown;
  try {
    body = load();
  } catch {
    body = undefined;
  }
  if (!isObject(body)) throw new Problem(UNREACHABLE, "garbage", "", say("garbage", { status }));
  return body;
}
