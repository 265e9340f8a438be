// What is read at the same time goes to the API as one request, `GET /reads`: a screen needs few of them.

import { isObject, readResponse } from "./json";

type Send = (request: Request) => Promise<Response>;

interface Read {
  request: Request;
  /** Its path and query under the API's address. */
  target: string;
  resolve: (response: Response) => void;
  reject: (error: unknown) => void;
}

/** Milliseconds in which reads that begin are sent together. */
const TOGETHER = 10;
/** As the API allows. */
const MOST_READS = 12;
/** Characters of an address; API Gateway takes 10,240 with all headers. */
const LONGEST = 6_000;
/** The status of a read whose body does not fit beside the others. */
const TOO_LARGE = 413;
const OK = 200;

const bodies = new WeakMap<Response, unknown>();

/** The JSON of a response that came with others; undefined of one that came alone, whose text is to be read. */
export const bodyOf = (response: Response) => bodies.get(response);

/** Return what sends requests: reads that begin together as one. */
export function together(send: Send, address: string): Send {
  let waiting: Read[] = [];
  const flush = () => {
    const reads = waiting.filter(({ request }) => !request.signal.aborted);
    waiting = [];
    for (const some of portions(reads)) void sendAll(send, address, some);
  };
  return (request) => {
    if (request.method !== "GET") return send(request);
    return new Promise((resolve, reject) => {
      const target = request.url.slice(address.length);
      request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
      if (waiting.push({ request, target, resolve, reject }) === 1) setTimeout(flush, TOGETHER);
    });
  };
}

/** As few portions as the bounds of a request allow. */
function portions(reads: Read[]): Read[][] {
  const found: Read[][] = [];
  let length = 0;
  for (const read of reads) {
    const last = found.at(-1);
    length += encodeURIComponent(read.target).length;
    if (last && last.length < MOST_READS && length < LONGEST) {
      last.push(read);
    } else {
      length = encodeURIComponent(read.target).length;
      found.push([read]);
    }
  }
  return found;
}

async function sendAll(send: Send, address: string, reads: Read[]): Promise<void> {
  const [first] = reads;
  if (!first) return;
  try {
    if (reads.length === 1) {
      first.resolve(await send(first.request));
      return;
    }
    const query = reads.map(({ target }) => `read=${encodeURIComponent(target)}`).join("&");
    const response = await send(new Request(`${address}/reads?${query}`, { signal: untilAll(reads) }));
    const text = await response.text();
    const { status, headers } = response;
    const items = status === OK ? itemsOf(text) : undefined;
    reads.forEach((read, index) => {
      if (items) void settle(send, read, items[index]);
      else read.resolve(new Response(text, { status, headers }));
    });
  } catch (error) {
    for (const { reject } of reads) reject(error);
  }
}

/** Aborted when no one of them is waited for. */
function untilAll(reads: Read[]): AbortSignal {
  const all = new AbortController();
  for (const { request } of reads) {
    request.signal.addEventListener("abort", () => {
      if (reads.every((read) => read.request.signal.aborted)) all.abort();
    });
  }
  return all.signal;
}

interface Item {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

function itemsOf(text: string): Item[] | undefined {
  try {
    const found = readResponse(text);
    return isObject(found) && Array.isArray(found.items) ? (found.items as Item[]) : undefined;
  } catch {
    return undefined; // each of them then fails as one whose text is no JSON
  }
}

async function settle(send: Send, { request, resolve, reject }: Read, item: Item | undefined): Promise<void> {
  if (!item || item.status === TOO_LARGE) {
    await send(request).then(resolve, reject);
    return;
  }
  const { status, headers, body } = item;
  const response = new Response(status === OK ? "" : JSON.stringify(body), { status, headers });
  if (status === OK) bodies.set(response, body);
  resolve(response);
}
