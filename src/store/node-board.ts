/** Where the nodes on a shared store say that they live, each a text under its own id, and read what the others say. */

export interface NodeBoard {
  /** Says it anew. What is not said again within some seconds is gone, whatever becomes of who said it. */
  say(id: string, text: string): Promise<void>
  /** What all say, by their ids: `most` of them at the most, and whether there are no more. */
  read(most: number): Promise<{ readonly said: ReadonlyMap<string, string>; readonly isAll: boolean }>
  /** Says nothing any more, from now on. */
  leave(id: string): Promise<void>
}
