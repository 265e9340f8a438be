import { Page } from "../ui/page";

export function CadencesScreen() {
  return <Page title="Cadences">…</Page>;
}
