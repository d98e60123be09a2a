/**
 * Parameters that published clients send to lists of the management API, although they have no effect there,
 * each with the client that sends it. The lists ignore these parameters, because doing so does not return
 * more results than requested. The lists reject all other unknown parameters (`query-string.ts`).
 */
export const TOLERATED_PARAMETERS: ReadonlyMap<string, string> = new Map([
  // This parameter changes the format of some lists, but not their content.
  ['include_total_count', 'clients generated from the published interface'],
  // Sent to the list of user attributes. There it can only refer to the resource that has these attributes,
  // so it has no effect.
  ['resource_id', 'permit-golang'],
])
