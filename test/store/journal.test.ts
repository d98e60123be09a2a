/** Journaled tables against the contracts of tables and ledgers, with a checkpoint after every write. Others: `test/long`. */
import { describeKind, onJournal } from './embedded-ledgers.ts'
import { writeThread } from './journals.ts'

describeKind(onJournal('journal, a checkpoint after every write', writeThread(), 1))
