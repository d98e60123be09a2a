/** A process with a large index. It prints as JSON how the kernel mapped its graph. */
import { openSync, readFileSync, readSync } from 'node:fs'
import { LINE_WORDS, WORD_BYTES } from '#engine/shared-index/memory/layout.ts'
import { LARGE_GRAPH_BYTES, Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { partsOf } from '#engine/shared-index/saved-index.ts'

const sizes = { header: 4_096, graph: LARGE_GRAPH_BYTES, closures: 0, schema: 0 }
const handle = Regions.emptyHandle(sizes)
const mappings = readFileSync('/proc/self/smaps', 'utf8').split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/)
const sizeOf = (mapping: string): number => Number(/^Size: +(\d+) kB/m.exec(mapping)?.[1]) * 1_024
const largest = mappings
  .toSorted((one, other) => sizeOf(other) - sizeOf(one))
  .find(one => / rw-p /.test(one))!
if (sizeOf(largest) < handle.graph.byteLength) throw new Error('the graph has no mapping of its size')

const PAGE_BYTES = 4_096
const mark = Buffer.from('the first line of the graph')
partsOf(handle, sizes).graph.set(mark)
const memory = openSync('/proc/self/mem', 'r')
// The kernel can merge the mapping of the closures with that of the graph, which begins on the next page.
const behindClosures = Math.ceil((handle.closures.byteLength + 1) / PAGE_BYTES) * PAGE_BYTES
const places = [0, behindClosures].map(offset => {
  const page = Buffer.alloc(PAGE_BYTES)
  readSync(memory, page, 0, PAGE_BYTES, Number.parseInt(largest, 16) + offset)
  return page.indexOf(mark)
})
const at = Math.max(...places)
if (at === -1) throw new Error('the graph is not where its mapping is')
process.stdout.write(
  JSON.stringify({
    isMarkedForHugePages: /^VmFlags:.* hg\b/m.test(largest),
    // Mappings begin on pages.
    isOnLines: at % (LINE_WORDS * WORD_BYTES) === 0,
  }),
)
