// The admin API, typed by its OpenAPI document. All that the page knows and does goes through here.

import createClient, { type Client } from "openapi-fetch";
import { type Config, home } from "./config";
import { Problem, problemOf, UNREACHABLE } from "./problem";
import type { components, paths } from "./schema.d.ts";

export type Schemas = components["schemas"];

/** Gives a token that holds for the next request; null where there is no sign-in. */
export type Token = () => Promise<string | null>;

export let api: Client<paths>;

export function startApi(config: Config, token: Token): void {
  api = createClient<paths>({
    baseUrl: new URL(config.api, home).href,
    querySerializer: { array: { style: "form", explode: true } },
  });
  api.use({
    async onRequest({ request }) {
      const held = await token();
      if (held) request.headers.set("Authorization", held);
      return request;
    },
  });
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** What the API answered with; a refusal, and silence, are thrown as a Problem. */
export async function call<T>(asked: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await asked;
  } catch (error) {
    if (error instanceof Problem || (error instanceof DOMException && error.name === "AbortError"))
      throw error;
    throw new Problem(UNREACHABLE, "unreachable", "", "");
  }
  if (!answer.response.ok) throw problemOf(answer.response.status, answer.error);
  return answer.data as T;
}
