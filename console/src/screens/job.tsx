import { Page } from "../ui/page";

export function JobScreen({ name }: { name: string }) {
  return <Page title={name}>…</Page>;
}
