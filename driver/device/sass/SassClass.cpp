// SPDX-License-Identifier: Apache-2.0
#include "driver/device/sass/SassClass.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <map>

namespace kopt {
namespace {

struct Row {
  SassClass kind;
  const char *name;
  const char *opcodes; ///< roots, separated by one blank
};

constexpr std::array kRows = {
    Row{SassClass::Fp32, "fp32",
        "FADD FADD2 FADD32I FCHK FFMA FFMA2 FFMA32I FMNMX FMNMX3 FMUL FMUL2 "
        "FMUL32I FSEL FSET FSETP FSWZADD "
        "FHADD FHFMA UFADD UFFMA UFMUL UFMNMX UFSEL UFSET UFSETP"},
    Row{SassClass::Fp64, "fp64", "DADD DFMA DMNMX DMUL DSET DSETP"},
    Row{SassClass::Fp16, "fp16",
        "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 VHMNMX"},
    Row{SassClass::Tensor, "tensor",
        "HMMA IMMA BMMA DMMA QMMA OMMA HGMMA IGMMA BGMMA QGMMA UTCHMMA UTCIMMA "
        "UTCQMMA UTCOMMA UTCMXQMMA"},
    Row{SassClass::Special, "special", "MUFU"},
    Row{SassClass::Integer, "integer",
        "BMSK BREV FLO IABS IADD IADD2 IADD3 IADD32I IADD64 IDP IDP4A IMAD "
        "IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP ISET LEA LOP LOP3 "
        "LOP32I POPC SHF SHL SHR SGXT VABSDIFF VABSDIFF4 VIADD VIADDMNMX "
        "VIMNMX VIMNMX3 XMAD BFE BFI UBMSK UBREV UFLO UIABS UIADD3 "
        "UIADD3X UIMAD UIMNMX UISETP ULEA ULOP ULOP3 ULOP32I UPOPC USGXT USHF "
        "USHL USHR UVIADD UVIMNMX UVIADDMNMX"},
    Row{SassClass::Conversion, "conversion",
        "F2F F2I F2FP F2IP FRND I2F I2FP I2I I2IP I2F16 UF2F UF2FP UF2I "
        "UI2F UI2FP UI2I UI2IP UFRND"},
    Row{SassClass::GlobalLoad, "global_load", "LDG LDGMC"},
    Row{SassClass::GlobalStore, "global_store", "STG"},
    Row{SassClass::SharedLoad, "shared_load", "LDS LDSM LDSLK"},
    Row{SassClass::SharedStore, "shared_store", "STS STSM STAS STSUL"},
    Row{SassClass::LocalLoad, "local_load", "LDL"},
    Row{SassClass::LocalStore, "local_store", "STL"},
    Row{SassClass::GenericLoad, "generic_load", "LD"},
    Row{SassClass::GenericStore, "generic_store", "ST"},
    Row{SassClass::ConstantLoad, "constant_load", "LDC LDCU ULDC"},
    Row{SassClass::Atomic, "atomic", "ATOM ATOMG ATOMS RED REDAS REDG UATOMG UREDGR UREDGM"},
    Row{SassClass::AsyncCopy, "async_copy",
        "LDGSTS UBLKCP UBLKPF UBLKRED UBLKL2 UTMALDG UTMAPF UTMAREDG UTMASTG UTCCP UTCSHIFT"},
    Row{SassClass::Texture, "texture", "TEX TEXS TLD TLDS TLD4 TLD4S TMML TXA TXD TXQ"},
    Row{SassClass::Surface, "surface", "SUATOM SULD SURED SUST SUQUERY"},
    Row{SassClass::Control, "control",
        "BMOV BPT BRA BREAK BRK BRX BRXU BSSY BSYNC BSYNCR CALL CONT "
        "ENDCOLLECTIVE ELECT EXIT JCAL JMP JMX JMXU KILL "
        "NANOSLEEP PBK PCNT PRET RET RPCMOV RTT SSY SYNC WARPSYNC WARPSYNCR "
        "YIELD NOP ACQBULK PREEXIT"},
    Row{SassClass::Barrier, "barrier",
        "BAR B2R ARRIVES CCTL CCTLL CCTLT UTMACCTL CGAERRBAR DEPBAR ERRBAR "
        "FENCE LDGDEPBAR LDTBAR MEMBAR SYNCS UCGABAR_ARV "
        "UCGABAR_GET UCGABAR_SET UCGABAR_WAIT UTCBAR UTMACMDFLUSH WARPGROUP "
        "WARPGROUPSET UTCATOMSWS UGETNEXTWORKID"},
    Row{SassClass::Exchange, "exchange", "SHFL VOTE VOTEU MATCH REDUX CREDUX"},
    Row{SassClass::Movement, "movement",
        "MOV MOV32I MOV64IUR MOVM PRMT SEL R2P P2R PLOP3 PSETP CS2R CS2UR S2R "
        "S2UR R2UR UMOV UMOV32I UPRMT USEL UP2UR UR2UP UPLOP3 "
        "UPSETP R2B LEPC GETLMEMBASE SETLMEMBASE SETCTAID USETMAXREG "
        "USETSHMSZ AL2P QSPC LDT LDTM STT STTM"},
};

const std::map<std::string, SassClass, std::less<>> &table() {
  static const auto built = [] {
    std::map<std::string, SassClass, std::less<>> all;
    for (const Row &row : kRows)
      for (const std::string &opcode : split(row.opcodes, ' '))
        all.emplace(opcode, row.kind);
    return all;
  }();
  return built;
}

/// True for arithmetic with zero that only moves a constant or a register.
bool isMove(const SassInstruction &instruction) {
  if (instruction.root() == "IMAD" || instruction.root() == "UIMAD")
    return instruction.has("MOV");
  // HFMA2 R0, -RZ, RZ, 0, 2.38e-07: the sum is the constant.
  return instruction.root() == "HFMA2" &&
         instruction.operands.find(", -RZ, RZ, ") != std::string::npos;
}

} // namespace

SassClass classOf(const SassInstruction &instruction) {
  if (isMove(instruction))
    return SassClass::Movement;
  const auto found = table().find(instruction.root());
  return found == table().end() ? SassClass::Other : found->second;
}

const char *toString(SassClass kind) {
  const auto row = std::ranges::find(kRows, kind, &Row::kind);
  return row == kRows.end() ? "other" : row->name;
}

unsigned accessBytes(const SassInstruction &instruction) {
  static const std::map<std::string, unsigned, std::less<>> kWidths = {
      {"U8", 1}, {"S8", 1}, {"8", 1},    {"U16", 2}, {"S16", 2},
      {"16", 2}, {"64", 8}, {"128", 16}, {"256", 32}};
  for (const std::string &part : split(instruction.opcode, '.'))
    if (const auto width = kWidths.find(part); width != kWidths.end())
      return width->second;
  return 4;
}

} // namespace kopt
