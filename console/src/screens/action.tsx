import { Page } from "../ui/page";

export function ActionScreen({ name }: { name: string }) {
  return <Page title={name}>…</Page>;
}
