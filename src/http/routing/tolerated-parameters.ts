/**
 * Parameters that published clients send to lists of the management API although they have no effect there,
 * each with the client that sends it. Ignoring them does not return more results. All other unknown
 * parameters are rejected (`query-string.ts`).
 */
export const TOLERATED_PARAMETERS: ReadonlyMap<string, string> = new Map([
  // Changes the format of some lists, but not their content.
  ['include_total_count', 'clients generated from the published interface'],
  // Sent for attributes of users. It can only refer to the resource that has these attributes.
  ['resource_id', 'permit-golang'],
])
