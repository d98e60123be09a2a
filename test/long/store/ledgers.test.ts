/** Further ways to open a store in files satisfy the contracts of tables and ledgers. */
import { describeKind, onJournal, onLmdb } from '../../store/embedded-ledgers.ts'
import { writeThread } from '../../store/journal/journals.ts'

describeKind(onLmdb('lmdb'))
describeKind(onJournal('journal, checkpoints by another thread', writeThread()))
describeKind(onJournal('journal, a checkpoint by the same thread after every write', null, 1))
