import { Page } from "../ui/page";

export function UndeliveredScreen() {
  return <Page title="Undelivered">…</Page>;
}

export function UndeliveredThingScreen({ name }: { name: string }) {
  return <Page title={name}>…</Page>;
}
